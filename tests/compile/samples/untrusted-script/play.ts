export default () => "hi";
